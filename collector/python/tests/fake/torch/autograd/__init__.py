import time


def backward(tensors):
    time.sleep(0.002)
