import sys

from pyspark.sql import SparkSession

from robosieve.spark import filter_files

spark = SparkSession.builder.getOrCreate()
print(filter_files(spark, sys.argv[1], sys.argv[2], sys.argv[3], "GPTBot")["allowed"])
