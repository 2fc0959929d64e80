import sys

from robosieve.ray import annotate_files

print(annotate_files(sys.argv[1], sys.argv[2], sys.argv[3], "GPTBot")["allowed"])
