def fetch_rows(path):
    with open(path) as file:
        return file.read().split("\n")


def fetch_rows_all(paths):
    return [fetch_rows(path) for path in paths]
