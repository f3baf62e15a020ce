import { test as plain } from "vitest";
import { Scene } from "./scene.ts";

/** `test` with a scene of its own, ended whatever comes. */
export const test = plain.extend<{ scene: Scene }>({
  // oxlint-disable-next-line no-empty-pattern -- the runner reads the pattern to learn which other fixtures are needed
  scene: async ({}, use) => {
    const scene = new Scene();
    try {
      await use(scene);
    } finally {
      await scene.end();
    }
  },
});
