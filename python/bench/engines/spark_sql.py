import sys

from pyspark.sql import SparkSession

from robosieve.spark import register_allowed

spark = SparkSession.builder.getOrCreate()
register_allowed(spark, sys.argv[1], agents="GPTBot")
spark.read.parquet(sys.argv[2]).createOrReplaceTempView("pages")
print(spark.sql("SELECT count(*) FROM pages WHERE robots_allowed(url)").first()[0])
