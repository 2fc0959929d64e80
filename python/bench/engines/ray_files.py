import sys

from robosieve.ray import filter_files

print(filter_files(sys.argv[1], sys.argv[2], sys.argv[3], "GPTBot")["allowed"])
