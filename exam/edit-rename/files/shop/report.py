from shop.rows import fetch_rows, fetch_rows_all


def report(path):
    # fetch_rows reads the whole file
    return len(fetch_rows(path)), fetch_rows_all([path])
