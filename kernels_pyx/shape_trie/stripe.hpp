// One stripe: the subtrees whose first symbol maps to it, with their lock, tables and places.
#pragma once

#include "leaves.hpp"

namespace workbench::trie {

struct alignas(64) Stripe {
    u64& leaves;                                   // read by all; the rest under the lock
    std::mutex mutex;
    u64 table;                                     // of edges
    u64 leaves_filled = 0;                         // slots of the leaf table that are not empty
    u64 filled = 0, edges = 0;                     // slots not empty; slots with an edge
    u64 entries = 0, hand = 0;
    u32 heads[16] = {};                            // first children of the roots of ranks 0 to 7
    u32* more_heads = nullptr;
    Places places;

    Stripe(Arena& arena, u64& leaves_now) : leaves(leaves_now), table(empty_table()), places(arena) { leaves = empty_leaves().word_after(0); }
    ~Stripe() { delete[] more_heads; }

    u32& head(u32 root) {
        if (root < 16) return heads[root];
        if (more_heads == nullptr) more_heads = new u32[ROOTS]();
        return more_heads[root];
    }
    u32 head_or_none(u32 root) const { return root < 16 ? heads[root] : more_heads ? more_heads[root] : 0; }

    bool has_table() const { return Table::of(table).slots != no_edges; }
    bool has_leaves() const { return Leaves::of(leaves).buckets != &no_leaves; }

    // Makes room for one more record and `more` edges; false without memory. The load is at most 13/16, including
    // tombstones.
    bool reserve(u64 more, Tables& tables, Tables& leaf_tables, u64& bytes) {
        const Leaves leaf = Leaves::of(leaves);
        if ((leaves_filled + 1) * 16 > (has_leaves() ? leaf.size() : 0) * 13) {
            u32 log = leaf.log() < Tables::MIN_LOG ? Tables::MIN_LOG : leaf.log();
            while ((entries + 1) * 16 > (u64(11) << log)) ++log;
            if (!resize_leaves(log, leaf_tables, bytes)) return false;
        }
        const Table now = Table::of(table);
        const u64 size = has_table() ? now.size() : 0;
        if ((filled + more) * 16 <= size * 13) return true;
        u32 log = now.log < Tables::MIN_LOG ? Tables::MIN_LOG : now.log;
        while ((edges + more) * 16 > (u64(11) << log)) ++log;
        return resize(log, tables, bytes);
    }

    // Shrinks when few entries are left.
    void shrink(Tables& tables, Tables& leaf_tables, u64& bytes) {
        const Leaves leaf = Leaves::of(leaves);
        if (entries == 0 && has_leaves()) {
            set_release(leaves, empty_leaves().word_after(leaves));
            leaf_tables.give(leaf.slots(), leaf.log());
            bytes -= leaf.size() * 8;
            leaves_filled = 0;
        } else if (leaf.log() > Tables::MIN_LOG && entries * 8 <= leaf.size()) {
            u32 log = Tables::MIN_LOG;
            while (entries * 2 > (u64(1) << log)) ++log;
            resize_leaves(log, leaf_tables, bytes);
        }
        const Table now = Table::of(table);
        if (!has_table() || (now.log <= Tables::MIN_LOG ? edges != 0 : edges * 8 > now.size())) return;
        if (edges == 0) {
            table = empty_table();
            tables.give(now.slots, now.log);
            bytes -= now.size() * 8;
            filled = hand = 0;
        } else {
            u32 log = Tables::MIN_LOG;
            while (edges * 2 > (u64(1) << log)) ++log;
            resize(log, tables, bytes);
        }
    }

    bool resize(u32 log, Tables& tables, u64& bytes) {
        const Table old = Table::of(table), fresh{tables.take(log), log};
        if (fresh.slots == nullptr) return false;
        for (u64 i = 0; i < old.size(); ++i) {
            const u64 slot = relaxed(old.slots[i]);
            if (static_cast<u32>(slot) != 0) set_relaxed(fresh.slots[vacancy(fresh, static_cast<u32>(slot >> 32))], slot);
        }
        const bool had = has_table();
        table = fresh.word();
        bytes += fresh.size() * 8;
        if (had) {
            bytes -= old.size() * 8;
            tables.give(old.slots, old.log);
        }
        filled = edges;
        hand = 0;
        return true;
    }

    bool resize_leaves(u32 log, Tables& tables, u64& bytes) {
        const Leaves old = Leaves::of(leaves);
        u64* const slots = tables.take(log);
        if (slots == nullptr) return false;
        const Leaves fresh = Leaves::of(slots, log);
        WORKBENCH_TRIE_STEP(table_taken, slots);
        old.copy_to(fresh);
        const bool had = has_leaves();
        set_release(leaves, fresh.word_after(leaves));
        bytes += fresh.size() * 8;
        if (had) {
            bytes -= old.size() * 8;
            tables.give(old.slots(), old.log());
        }
        leaves_filled = entries;
        return true;
    }

    void put_leaf(u64 whole, u32 id) { leaves_filled += Leaves::of(leaves).put(tag_of(whole), id); }
    void erase_leaf(u64 whole, u32 id) { leaves_filled -= Leaves::of(leaves).erase(tag_of(whole), id); }

    void put(u64 hash, u32 id) {
        const Table t = Table::of(table);
        const u64 at = vacancy(t, tag_of(hash));
        filled += relaxed(t.slots[at]) == 0;
        ++edges;
        set_release(t.slots[at], make_slot(tag_of(hash), id));
    }

    // The slot of an existing edge.
    u64* slot_of(u64 hash, u32 id) const {
        const Table t = Table::of(table);
        const u64 slot = make_slot(tag_of(hash), id);
        for (u64 bucket = t.place(tag_of(hash));; bucket = t.next(bucket))
            for (u32 i = 0; i < BUCKET; ++i)
                if (relaxed(t.slots[bucket + i]) == slot) return t.slots + bucket + i;
    }

    void erase(u64 hash, u32 id) {
        u64* slot = slot_of(hash, id);
        const u64* bucket = reinterpret_cast<u64*>(reinterpret_cast<std::size_t>(slot) & ~std::size_t(63));
        const bool ends_here = match(bucket, 0).empty != 0;
        set_release(*slot, ends_here ? 0 : TOMBSTONE);
        filled -= ends_here;
        --edges;
    }

  private:
    static u64 empty_table() { return reinterpret_cast<u64>(no_edges) | 3; }
    static Leaves empty_leaves() { return Leaves{&no_leaves, 32}; }

    // The first slot without an edge on the probe path of a tag.
    static u64 vacancy(const Table& t, u32 tag) {
        for (u64 bucket = t.place(tag);; bucket = t.next(bucket))
            for (u32 i = 0; i < BUCKET; ++i)
                if (static_cast<u32>(relaxed(t.slots[bucket + i])) == 0) return bucket + i;
    }
};

}  // namespace workbench::trie
