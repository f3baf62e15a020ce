import { nameOf } from "./tree.ts";

/** Names that writers give to files they have not finished. */
const temporary =
  /^\.tmp|^tmp[-_.]|\.(?:tmp|temp|part|partial|incomplete|crdownload|dirty|lock|__lock|swp)(?:$|[-_.])|\.tmp\w*$|~$|\.orbax-checkpoint-tmp|-unfinished$|_unfinished$|\.dirty\.pt$|^\._dlrover_ckpt_stage$|^\.nfs[0-9a-f]+$/i;

/** Written for ever by a running program and read by people: neither waited for nor part of a checkpoint. */
const logLike =
  /^events\.out\.tfevents\.|\.(?:log|out|err|pid|sock|pyc)$|^(?:wandb|mlruns|tensorboard|tb_logs|__pycache__|\.git|\.cache|\.ipynb_checkpoints|lost\+found)$/i;

/** What scripts leave beside their checkpoints before the first one: not worth a checkpoint by itself. */
const descriptive =
  /^(?:config|generation_config|hparams|args|training_args|preprocessor_config|tokenizer\w*|vocab\w*|merges|special_tokens_map|added_tokens|readme|license)\.(?:json|ya?ml|toml|txt|md|model|bin)$|\.(?:md|ya?ml|toml|ini|cfg|py|sh|ipynb)$/i;

/** Whether a path's own name says that it is not finished yet. */
export function isTemporaryName(path: string): boolean {
  return temporary.test(nameOf(path));
}

/** Whether a path's own name says that it is a log. */
export function isLogName(path: string): boolean {
  return logLike.test(nameOf(path));
}

/** Whether a file only describes the program's settings. */
export function isDescriptiveName(path: string): boolean {
  return descriptive.test(nameOf(path));
}
