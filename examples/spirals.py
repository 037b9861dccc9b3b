"""Two spirals in PyTorch: the twin of spirals.c. Prints the loss of each step, then the share of points told right."""
import math
import sys

import torch
from torch import nn

device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


def arm(turn):
    """(100, 2): the points of one arm, from the center out."""
    radius = torch.linspace(0.1, 1, 100)
    angle = radius * 9 + turn
    points = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 1)
    return torch.add(points, torch.randn(100, 2), alpha=0.01)


torch.manual_seed(0)
first, second = arm(0), arm(math.pi)
x = torch.cat([first, second]).to(device)
y = torch.cat([torch.zeros(100, dtype=torch.int64), torch.ones(100, dtype=torch.int64)]).to(device)

net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 2))
net.to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
loss_of = nn.CrossEntropyLoss()

for step in range(400):
    loss = loss_of(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.9g}")

net.eval()
with torch.no_grad():
    right = (net(x).argmax(1) == y).float().mean()
print(f"{100 * right.item():.1f} % right")
