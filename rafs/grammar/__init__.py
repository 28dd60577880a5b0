"""The grammar of mathematics in running text: tokens, numbers, expressions and their exact values."""
