// Items that correspond: for a vertex of one view, its partners in the others.

export class Partners {
  private readonly table = new Map<string, Map<number, number[]>>();

  add([k, l]: [number, number], a: Uint32Array, b: Uint32Array): void {
    this.fill(`${k}:${l}`, a, b);
    this.fill(`${l}:${k}`, b, a);
  }

  /** Partners in view `to` of a vertex of view `from`. */
  of(from: number, vertex: number, to: number): readonly number[] {
    return this.table.get(`${from}:${to}`)?.get(vertex) ?? [];
  }

  private fill(key: string, from: Uint32Array, to: Uint32Array): void {
    const partners = this.table.get(key) ?? new Map<number, number[]>();
    this.table.set(key, partners);
    for (let k = 0; k < from.length; k++) {
      const list = partners.get(from[k]) ?? [];
      if (!list.includes(to[k])) list.push(to[k]);
      partners.set(from[k], list);
    }
  }
}
