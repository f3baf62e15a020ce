import { mainContainers } from "../placement/pod-template.ts";
import { commandWords, scriptOf, spanInScript, wordsOf } from "../placement/script.ts";
import type { Report, Rule } from "../rule.ts";
import type { Span } from "../source/source-file.ts";

export const gpuProcsMismatch: Rule = {
  id: "gpu-procs-mismatch",
  title: "The launcher starts another number of processes than there are GPUs",
  severity: "warning",
  why: "More processes than GPUs crash at start, on every attempt, and burn the Job's retries. Fewer leave GPUs idle that are paid for.",
  fix: "Make --nproc_per_node, --num_processes or --tensor-parallel-size agree with the nvidia.com/gpu limit.",
  sources: ["PyTorch: torchrun", "vLLM: engine arguments"],
  *template({ template }, context) {
    for (const container of mainContainers(template)) {
      const resources = container.node.get("resources");
      const gpus =
        resources?.get("limits", "nvidia.com/gpu")?.number ?? resources?.get("requests", "nvidia.com/gpu")?.number;
      if (gpus === undefined || gpus === 0) continue;
      const script = scriptOf(container, template, context.ofKind);
      const lists: { text: string; span: Span }[][] = script
        ? script.commands.map((command) => {
            const texts = commandWords(command);
            const own = command.words.slice(command.words.length - texts.length);
            return texts.map((text, i) => ({ text, span: spanInScript(script, own[i]?.start ?? 0, own[i]?.end ?? 0) }));
          })
        : [wordsOf(container).map((node) => ({ text: node.text ?? "", span: node }))];
      for (const words of lists) yield* check(words, gpus);
    }
  },
};

function* check(words: readonly { readonly text: string; readonly span: Span }[], gpus: number): Iterable<Report> {
  const line = words.map(({ text }) => text).join(" ");
  const isTorch = /torchrun|torch\.distributed/.test(line);
  const isAccelerate = /\baccelerate\b/.test(line) && !/--num_machines[ =](?!1\b)/.test(line);
  const isVllm = /vllm|sglang/.test(line);
  for (const [i, { text, span }] of words.entries()) {
    const found = /^--(nproc[-_]per[-_]node|num[-_]processes|tensor[-_]parallel[-_]size|tp)(?:=(.*))?$/.exec(text);
    if (!found) continue;
    const name = found[1] ?? "";
    const fits = name.startsWith("nproc") ? isTorch : name.startsWith("num") ? isAccelerate : isVllm;
    const value = found[2] ?? words[i + 1]?.text ?? "";
    const count = /^\d+$/.test(value) ? Number(value) : undefined;
    if (!fits || count === undefined || count === gpus) continue;
    const isServer = name.startsWith("t");
    // A server may run with several parallel groups, or over several pods.
    if (isServer && (/pipeline[-_]parallel|data[-_]parallel|ray/.test(line) || count < gpus)) continue;
    yield {
      at: found[2] === undefined ? (words[i + 1]?.span ?? span) : span,
      message:
        count > gpus
          ? `--${name} ${count} but the container has ${gpus} GPU${gpus === 1 ? "" : "s"}: it crashes at every start`
          : `--${name} ${count} but the container has ${gpus} GPUs: ${gpus - count} stand idle`,
    };
  }
}
