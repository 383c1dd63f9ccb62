echo "Hello, $1."
