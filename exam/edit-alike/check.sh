fail() { echo "$1"; exit 1; }
cmp -s proxy.conf - <<'END' || fail "proxy.conf differs from what was asked"
server {
  name north;
  timeout 30;
  retries 3;
  buffer 64k;
}

server {
  name south;
  timeout @NUMBER@;
  retries 3;
  buffer 64k;
}

server {
  name south-east;
  timeout 30;
  retries 3;
  buffer 64k;
}

server {
  name west;
  timeout 30;
  retries 3;
  buffer 64k;
}

END
