// Shapes for the native programs: distinct ones of ranks 1 to 6 with the sizes of practice, and ways to draw from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace shapes {

struct Shape {
    int rank = 0;
    int dtype = 0;
    std::int64_t dims[8] = {};
    bool operator<(const Shape& o) const {
        if (rank != o.rank) return rank < o.rank;
        if (dtype != o.dtype) return dtype < o.dtype;
        return std::lexicographical_compare(dims, dims + rank, o.dims, o.dims + o.rank);
    }
};

// `count` distinct shapes: a batch, then channels, heights and widths; every third dim is any number up to 4096.
inline std::vector<Shape> make(std::size_t count, unsigned seed = 1) {
    static const std::int64_t channels[] = {1, 3, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024, 2048};
    static const std::int64_t sides[] = {1, 2, 4, 7, 8, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128, 160, 224, 256, 299, 320, 384, 512};
    std::mt19937_64 random(seed);
    std::set<Shape> seen;
    std::vector<Shape> out;
    out.reserve(count);
    while (out.size() < count) {
        Shape s;
        s.rank = 1 + static_cast<int>(random() % 6);
        s.dtype = static_cast<int>(random() % 4) + 9;
        for (int i = 0; i < s.rank; ++i) {
            if (random() % 3 == 0) s.dims[i] = 1 + static_cast<std::int64_t>(random() % 4096);
            else if (i == 0) s.dims[i] = 1 + static_cast<std::int64_t>(random() % 256);
            else if (i == 1) s.dims[i] = channels[random() % std::size(channels)];
            else s.dims[i] = sides[random() % std::size(sides)];
        }
        if (seen.insert(s).second) out.push_back(s);
    }
    return out;
}

// Indices to look up: each shape alike, or by Zipf's law with exponent 1.
inline std::vector<std::uint32_t> draw(std::size_t shapes, std::size_t count, bool zipf, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> out(count);
    if (!zipf) {
        for (auto& i : out) i = static_cast<std::uint32_t>(random() % shapes);
        return out;
    }
    std::vector<double> sums(shapes);
    double sum = 0;
    for (std::size_t i = 0; i < shapes; ++i) sums[i] = sum += 1.0 / static_cast<double>(i + 1);
    std::uniform_real_distribution<double> uniform(0, sum);
    for (auto& i : out)
        i = static_cast<std::uint32_t>(std::lower_bound(sums.begin(), sums.end(), uniform(random)) - sums.begin());
    for (auto& i : out) i = std::min<std::uint32_t>(i, static_cast<std::uint32_t>(shapes - 1));
    return out;
}

}  // namespace shapes
