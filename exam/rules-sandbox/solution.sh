sh set_limit.sh >status.txt || true
