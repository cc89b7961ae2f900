import type { ActivityRow, ActivityRows } from "../../src/interfaces/mod.ts";
import type { Gate } from "./gate.ts";

/** Rows of activity that several openings share. */
export interface ActivityTable {
  /** By id. */
  rows: Map<number, ActivityRow>;
  lastId: number;
}

/** What keys did, in a map. */
export function activityRows(table: ActivityTable, gate: Gate): ActivityRows {
  const newest = () => [...table.rows.values()].sort((a, b) => b.id - a.id);
  /** Keeps each key's newest rows. */
  const trim = (bound: number, isMeant: (row: ActivityRow) => boolean = () => true) => {
    const places = new Map<string, number>();
    for (const row of newest()) {
      const place = (places.get(row.holder) ?? 0) + 1;
      places.set(row.holder, place);
      if (place > bound && isMeant(row)) table.rows.delete(row.id);
    }
  };
  return {
    async write(given, perHolder) {
      await gate.pass();
      const ids = given.map((row) => {
        const id = row.id === 0 ? ++table.lastId : row.id;
        table.rows.set(id, { ...row, id, entry: row.entry.slice() });
        return id;
      });
      trim(perHolder, ({ holder }) => given.some((row) => row.id === 0 && row.holder === holder));
      return ids;
    },
    async countOn(holder, day) {
      await gate.pass();
      return newest().filter((row) => row.holder === holder && row.day === day).length;
    },
    async page({ account, holder, before = Infinity, limit }) {
      await gate.pass();
      return newest().filter((row) =>
        row.id < before && (holder === undefined ? row.account === account : row.holder === holder)
      ).slice(0, limit);
    },
    async prune(oldestDay, { perHolder, total }) {
      await gate.pass();
      for (const { id, day } of newest()) if (day < oldestDay) table.rows.delete(id);
      for (let bound = perHolder; bound > 1 && table.rows.size > total;) {
        trim(bound = Math.floor(bound / 2));
      }
    },
  };
}
