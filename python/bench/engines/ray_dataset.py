import sys

import ray

from robosieve.ray import filter_allowed

print(filter_allowed(ray.data.read_parquet(sys.argv[2]), sys.argv[1], "GPTBot").count())
