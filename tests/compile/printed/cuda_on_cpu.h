// What CUDA's words mean where there is no GPU: one thread after the other, in an order of choice.
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <vector>

#define __global__
#define __device__

struct psy_triple {
    unsigned int x, y, z;
};
static psy_triple threadIdx, blockIdx, blockDim = {4, 2, 1}, gridDim = {1, 1, 1};

// Run `body` once for each thread of enough blocks for so many points: forwards (0), backwards (1)
// or shuffled.
template <class Body>
static void psy_launch(int order, int columns, int rows, Body body)
{
    gridDim.x = (columns + blockDim.x - 1) / blockDim.x;
    gridDim.y = (rows + blockDim.y - 1) / blockDim.y;
    const unsigned int width = gridDim.x * blockDim.x, count = width * gridDim.y * blockDim.y;
    std::vector<unsigned int> threads(count);
    for (unsigned int at = 0; at < count; ++at)
        threads[at] = order == 1 ? count - 1 - at : at;
    srand(order);
    for (unsigned int at = count; order > 1 && at > 1; --at) {
        const unsigned int other = rand() % at, kept = threads[at - 1];
        threads[at - 1] = threads[other];
        threads[other] = kept;
    }
    for (unsigned int at : threads) {
        blockIdx.x = at % width / blockDim.x;
        threadIdx.x = at % width % blockDim.x;
        blockIdx.y = at / width / blockDim.y;
        threadIdx.y = at / width % blockDim.y;
        body();
    }
}
