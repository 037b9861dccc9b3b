/* line 2 | is Python | #include <ferry.h> */
import torch

def main():
    a = zeros((2, 3))
    print(a)
