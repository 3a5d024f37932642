// The contents as a tree of bounded size, for a view: rank, one dim a level, then the descriptors of that shape.
//
// One pass copies the keys (one stripe locked at a time), then groups are counted level by level: only those that are
// shown are divided further, largest first, until the nodes are used up. The rest is one node with the sums.
#pragma once

#include <algorithm>

#include "trie.hpp"

namespace workbench::trie {

struct Line {
    u32 parent, depth, hidden;     // hidden: number of groups in a "more" node
    i64 value;                     // rank or dim
    u64 entries, references;
    u32 id;                        // of a descriptor
};

class Summary {
  public:
    Summary(Trie& trie, u32 most_nodes, u32 most_children, Buffer<Line>& lines)
        : most_nodes_(most_nodes), most_children_(most_children), lines_(lines) {
        trie.each(0, nullptr, [&](u32 id, u32 references, const Key& key) {
            const u32 rank = rank_of(key.root);
            items_.add({dims_.size(), references, id, rank});
            i64* dims = dims_.add_many(rank);
            for (u32 i = 0; i < rank; ++i) dims[i] = dim_of(key, static_cast<int>(i));
            return true;
        });
    }

    void run() {
        Line root{0, 0, 0, 0, items_.size(), 0, 0};
        for (std::size_t i = 0; i < items_.size(); ++i) root.references += items_[i].references;
        lines_.add(root);
        pending_.add({0, items_.size(), 0});
        // Largest groups first, so that small ones are cut off.
        while (pending_.size() > done_) {
            std::size_t best = done_;
            for (std::size_t i = done_; i < pending_.size(); ++i)
                if (pending_[i].size > pending_[best].size) best = i;
            std::swap(pending_[done_], pending_[best]);
            const Span span = pending_[done_++];
            divide(span);
        }
    }

  private:
    struct Item { std::size_t dims; u32 references, id, rank; };
    struct Span { std::size_t first, size; u32 line; };
    struct Group { i64 value; std::size_t first, size; };

    // The value that divides a group at a depth: the rank, then a dim; -1 after the last dim.
    i64 part(const Item& item, u32 depth) const {
        return depth == 0 ? static_cast<i64>(item.rank) : depth <= item.rank ? dims_[item.dims + depth - 1] : -1;
    }

    void divide(const Span& span) {
        const u32 depth = lines_[span.line].depth;
        Item* const items = items_.data() + span.first;
        if (lines_.size() >= most_nodes_ || span.size == 0) return;
        const u64 room = most_nodes_ - lines_.size();
        const std::size_t show = std::min<u64>(most_children_, room);
        if (depth > 0 && part(items[0], depth) < 0) {
            const std::size_t n = std::min(show, span.size);
            for (std::size_t i = 0; i < n; ++i)
                lines_.add({span.line, depth + 1, 0, 0, 1, items[i].references, items[i].id});
            rest(span.line, depth, items + n, items + span.size, static_cast<u32>(span.size - n));
            return;
        }
        std::sort(items, items + span.size, [&](const Item& a, const Item& b) { return part(a, depth) < part(b, depth); });
        Buffer<Group> groups;
        for (std::size_t i = 0; i < span.size; ++i) {
            const i64 value = part(items[i], depth);
            if (groups.size() == 0 || groups[groups.size() - 1].value != value) groups.add({value, span.first + i, 0});
            ++groups[groups.size() - 1].size;
        }
        std::sort(groups.data(), groups.data() + groups.size(), [](const Group& a, const Group& b) {
            return a.size != b.size ? a.size > b.size : a.value < b.value;
        });
        const std::size_t n = std::min(show, groups.size());
        for (std::size_t g = 0; g < n; ++g) {
            Line line{span.line, depth + 1, 0, groups[g].value, groups[g].size, 0, 0};
            for (std::size_t i = 0; i < groups[g].size; ++i) line.references += items_[groups[g].first + i].references;
            pending_.add({groups[g].first, groups[g].size, static_cast<u32>(lines_.size())});
            lines_.add(line);
        }
        if (n < groups.size()) {
            Line more{span.line, depth + 1, static_cast<u32>(groups.size() - n), 0, 0, 0, 0};
            for (std::size_t g = n; g < groups.size(); ++g)
                for (std::size_t i = 0; i < groups[g].size; ++i, ++more.entries)
                    more.references += items_[groups[g].first + i].references;
            lines_.add(more);
        }
    }

    void rest(u32 parent, u32 depth, const Item* from, const Item* to, u32 hidden) {
        if (hidden == 0) return;
        Line more{parent, depth + 1, hidden, 0, hidden, 0, 0};
        for (; from != to; ++from) more.references += from->references;
        lines_.add(more);
    }

    const u32 most_nodes_, most_children_;
    Buffer<Line>& lines_;
    Buffer<Item> items_;
    Buffer<i64> dims_;
    Buffer<Span> pending_;
    std::size_t done_ = 0;
};

inline void summarise(Trie& trie, u32 most_nodes, u32 most_children, Buffer<Line>& lines) {
    Summary(trie, most_nodes, most_children, lines).run();
}

}  // namespace workbench::trie
