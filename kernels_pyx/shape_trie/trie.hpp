// The shape trie. From the ground up:
//
//   key.hpp       shape -> words -> symbols, and the hash of a prefix
//   memory.hpp    address space that stays, tables in it
//   object.hpp    nodes, records, ids, the arena
//   counters.hpp  hit and miss counts by thread
//   edges.hpp     hash of a prefix -> child: for writers and walks
//   leaves.hpp    hash of a whole key -> record: for lookups
//   stripe.hpp    lock, tables and places of one part of the trie
//   core.hpp      the stripes and the statistics
//   reader.hpp    lookups without locks, and their correctness
//   builder.hpp   insertion, splits, lists of children
//   writer.hpp    references, reclaiming, eviction
//   short.hpp     lookups of short keys in one register
//   walk.hpp      prefix queries and the check of all invariants
//   summary.hpp   a tree of bounded size for the view
#pragma once

#include "walk.hpp"

namespace workbench::trie {

class Trie : public Walker {
  public:
    explicit Trie(u64 capacity = 0) : Walker(capacity) {}
};

}  // namespace workbench::trie
