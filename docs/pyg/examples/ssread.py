import argparse
import os.path as osp
import time

import torch
import torch.nn.functional as F
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, SSReadAggregation

parser = argparse.ArgumentParser()
parser.add_argument('--dataset', type=str, default='MUTAG')
parser.add_argument('--root', type=str, default=osp.join(
    osp.dirname(osp.realpath(__file__)), '..', 'data', 'TU'))
parser.add_argument('--batch_size', type=int, default=128)
parser.add_argument('--hidden_channels', type=int, default=64)
parser.add_argument('--num_layers', type=int, default=3)
parser.add_argument('--num_positions', type=int, default=4)
parser.add_argument('--lr', type=float, default=0.001)
parser.add_argument('--epochs', type=int, default=100)
args = parser.parse_args()

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

torch.manual_seed(0)
dataset = TUDataset(args.root, name=args.dataset).shuffle()
n = len(dataset) // 10
test_loader = DataLoader(dataset[:n], args.batch_size)
val_loader = DataLoader(dataset[n:2 * n], args.batch_size)
train_loader = DataLoader(dataset[2 * n:], args.batch_size, shuffle=True)


class Net(torch.nn.Module):
    def __init__(self, in_channels, hidden_channels, out_channels, num_layers,
                 num_positions):
        super().__init__()
        self.gnn = GIN(in_channels, hidden_channels, num_layers,
                       norm='batch_norm')
        self.readout = SSReadAggregation(hidden_channels, num_positions)
        # A sum over many nodes is large, and so would be the steps of the
        # logits. Hence, graph vectors are normalized:
        self.norm = torch.nn.BatchNorm1d(num_positions * hidden_channels)
        self.lin = torch.nn.Linear(num_positions * hidden_channels,
                                   out_channels)

    def forward(self, data):
        x = self.gnn(data.x, data.edge_index)
        x, alignment_loss = self.readout(x, data.batch,
                                         dim_size=data.num_graphs,
                                         return_alignment_loss=True)
        return self.lin(self.norm(x)), alignment_loss


model = Net(dataset.num_features, args.hidden_channels, dataset.num_classes,
            args.num_layers, args.num_positions).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)


def train():
    model.train()

    total_loss = 0
    for data in train_loader:
        data = data.to(device)
        optimizer.zero_grad()
        out, alignment_loss = model(data)
        loss = F.cross_entropy(out, data.y) + alignment_loss
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * data.num_graphs
    return total_loss / len(train_loader.dataset)


@torch.no_grad()
def test(loader):
    model.eval()

    total_correct = 0
    for data in loader:
        data = data.to(device)
        pred = model(data)[0].argmax(dim=-1)
        total_correct += (pred == data.y).sum().item()
    return total_correct / len(loader.dataset)


times = []
best_val_acc = final_test_acc = 0
for epoch in range(1, args.epochs + 1):
    start = time.time()
    loss = train()
    val_acc = test(val_loader)
    if val_acc > best_val_acc:
        best_val_acc = val_acc
        final_test_acc = test(test_loader)
    print(f'Epoch: {epoch:03d}, Loss: {loss:.4f}, Val: {val_acc:.4f}')
    times.append(time.time() - start)
print(f'Test: {final_test_acc:.4f}')
print(f'Median time per epoch: {torch.tensor(times).median():.4f}s')
