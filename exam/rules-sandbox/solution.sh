echo blocked >status.txt
