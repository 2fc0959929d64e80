"""A function of DuckDB that asks Protego, with its cache of parsed files."""

import duckdb
import pyarrow
from protego_cached import is_allowed, urls
from robots_texts import write_answers

pages = pyarrow.table({"url": [url.encode(errors="replace").decode() for url in urls]})
duckdb.create_function("is_allowed", is_allowed)
write_answers(answer for (answer,) in duckdb.sql("SELECT is_allowed(url) FROM pages").fetchall())
