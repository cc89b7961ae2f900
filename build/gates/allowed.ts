/**
 * Functions that break a gate today, by file and name. The list only shrinks: an entry that is no
 * longer needed fails.
 */
export const ALLOWED: Readonly<Record<"lines" | "parameters", readonly string[]>> = {
  lines: [
    "web/src/apps/key_card.tsx KeyCard",
    "web/src/apps/new_key.tsx NewKeyForm",
    "web/src/memory/compose.tsx Compose",
    "web/src/memory/memory_list.tsx MemoryList",
    "web/src/memory/search.tsx Search",
    "web/src/pages/apps.tsx Keys",
    "web/src/pages/connect.tsx Question",
    "web/src/pages/memories.tsx Shelf",
  ],
  parameters: [],
};
