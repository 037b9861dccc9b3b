// torch_peer.cc: times the operations of tensors.c with PyTorch's C++ library; prints a line for each: name, ns.
// Usage: torch_peer THREADS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <torch/torch.h>

using clock_type = std::chrono::steady_clock;

// Median of 15 rounds of `count` calls, in ns per call, as in bench.c.
template <typename F> static void measure(const char *name, int count, F call)
{
    std::vector<double> turns;
    for (int turn = 0; turn < 16; turn++) {
        auto start = clock_type::now();
        for (int i = 0; i < count; i++) call();
        std::chrono::duration<double, std::nano> took = clock_type::now() - start;
        if (turn > 0) turns.push_back(took.count() / count); // the first round is a warm-up
    }
    std::nth_element(turns.begin(), turns.begin() + 7, turns.end());
    std::printf("%s %.1f\n", name, turns[7]);
}

// The step of training.c.
static void measure_step()
{
    torch::AutoGradMode grad(true);
    torch::nn::Sequential net(torch::nn::Linear(784, 256), torch::nn::ReLU(), torch::nn::Linear(256, 10));
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
    auto x = torch::randn({64, 784}), y = torch::randint(0, 10, {64});
    measure("mlp_step", 30, [&] {
        auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
    });
}

int main(int argc, char **argv)
{
    torch::NoGradGuard no_grad;
    torch::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
    auto small = torch::ones({4}), large = torch::rand({10000000}), rows = torch::rand({10000, 1000});
    measure("add_4", 20000, [&] { torch::add(small, small); });
    measure("add_10M", 5, [&] { torch::add(large, large); });
    measure("sum_10M", 5, [&] { torch::sum(large); });
    measure("exp_10M", 5, [&] { torch::exp(large); });
    measure("softmax_10M", 2, [&] { torch::softmax(rows, 1); });
    measure_step();
}
