/** A typed event source: `Events` maps an event's name to what its listeners receive. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(data: never) => void>>();

  /** Calls `listener` on every such event; returns a function that stops it. */
  on<Name extends keyof Events>(name: Name, listener: (data: Events[Name]) => void): () => void {
    let set = this.#listeners.get(name);
    if (!set) {
      set = new Set();
      this.#listeners.set(name, set);
    }
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Calls every listener of `name`, in the order they were added. */
  emit<Name extends keyof Events>(name: Name, data: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) (listener as (data: Events[Name]) => void)(data);
  }
}
