import sys

from shop import rows

print(rows.fetch_rows(sys.argv[1]), rows.fetch_rows_all([]))
