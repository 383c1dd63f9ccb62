// TODO(7345): more tests
