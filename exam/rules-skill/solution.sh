sed -i '4a * [@NUMBER@] add the flag --dry-run' CHANGES.md
