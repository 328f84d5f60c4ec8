"""Busiest tokens by day, by Spark: `python spark_busiest.py FOLDER spark://HOST:7077`.

FOLDER is what `scan export` wrote, where all workers see it."""

import sys

from pyspark.sql import SparkSession

folder, master = sys.argv[1:]
spark = SparkSession.builder.master(master).appName("busiest").getOrCreate()
for table in ("blocks", "token_transfers"):
    spark.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)
spark.read.parquet(f"{folder}/tokens.parquet").createOrReplaceTempView("tokens")
busiest = spark.sql("""
    SELECT to_date(timestamp_seconds(b.timestamp_s)) AS day,
        concat('0x', lower(hex(x.token_address))) AS token, any_value(t.symbol) AS symbol,
        count(*) AS transfers, count(DISTINCT x.from_address) AS senders,
        -- Exact also beyond the 38 digits of a decimal: of the 78 digits, 26 at a time.
        sum(CAST(substr(lpad(x.value_string, 78, '0'), 1, 26) AS DECIMAL(26))) AS units_2,
        sum(CAST(substr(lpad(x.value_string, 78, '0'), 27, 26) AS DECIMAL(26))) AS units_1,
        sum(CAST(substr(lpad(x.value_string, 78, '0'), 53, 26) AS DECIMAL(26))) AS units_0
    FROM token_transfers x
    JOIN blocks b ON b.number = x.block_number
    JOIN tokens t ON t.address = x.token_address
    GROUP BY day, token
    ORDER BY day, transfers DESC, token
""")
for row in busiest.collect():
    units = sum(int(row[f"units_{n}"]) * 10 ** (26 * n) for n in range(3))
    print(row.day, row.token, row.symbol, row.transfers, row.senders, units, sep="\t")
spark.stop()
