"""The filter of Apertus' data pipeline, whose file is the fifth argument: Protego, with a cache of the last 8,192
parsed files. It knows hosts, not origins, and it keeps its own fifteen names of agents."""

import runpy
import sys
import types

from datatrove_documents import write_kept
from robots_texts import arguments

texts, urls, _ = arguments()
# The file imports a function that this filter does not call.
sys.modules["data_pipeline_pretrain"] = types.ModuleType("data_pipeline_pretrain")
sys.modules["data_pipeline_pretrain.utils"] = types.SimpleNamespace(list_files=None)
RobotsTxtFilter = runpy.run_path(sys.argv[5])["RobotsTxtFilter"]

by_host = {origin.partition("://")[2]: text for origin, text in texts.items()}
write_kept(urls, RobotsTxtFilter(by_host))
