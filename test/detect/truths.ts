/** A stretch of a recording, in line numbers of its file: from the operation that finished something to the last before it was touched again. */
export type Stretch = readonly [from: number, through: number];

/** What is really complete when, found by reading the recordings, not by running the detector. */
export interface Truth {
  readonly recording: string;
  /** Folders (or files) and when all of their bytes are there. */
  readonly good: Readonly<Record<string, readonly Stretch[]>>;
  /** What must be reported after the last operation, by path and step. */
  readonly atEnd: readonly (readonly [path: string, step: number | undefined])[];
  /**
   * How long the writer may stop anywhere without the detector being misled. Where a framework has no marker and closes one file before it
   * opens the next, nobody can tell a long pause from the end: then this is shorter than the quiet time.
   */
  readonly pauseMs: number;
  /** How the recording is to be understood. */
  readonly because: string;
}

const forEver = Number.MAX_SAFE_INTEGER;
const tenMinutes = 600_000;

export const truths: readonly Truth[] = [
  {
    recording: "hf_trainer",
    because: "trainer_state.json is written last; rotation begins with training_args.bin",
    good: {
      "checkpoint-20": [[26, 81]],
      "checkpoint-40": [[53, 117]],
      "checkpoint-60": [[80, 153]],
      "checkpoint-80": [[116, forEver]],
      "checkpoint-100": [[152, forEver]],
    },
    atEnd: [
      ["checkpoint-80", 80],
      ["checkpoint-100", 100],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "lightning_fit",
    because: "every file is renamed into place from the system's temporary folder",
    good: {
      "epoch=0-step=20.ckpt": [[1, 5]],
      "epoch=0-step=40.ckpt": [[3, 8]],
      "epoch=0-step=60.ckpt": [[5, 11]],
      "epoch=0-step=80.ckpt": [[8, forEver]],
      "epoch=0-step=100.ckpt": [[11, forEver]],
      "last.ckpt": [[2, forEver]],
    },
    atEnd: [
      ["epoch=0-step=80.ckpt", 80],
      ["epoch=0-step=100.ckpt", 100],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "lightning_fit_other_tmp",
    because: "a copy: whole when it is closed; last.ckpt is overwritten in place",
    good: {
      "epoch=0-step=20.ckpt": [[2, 10]],
      "epoch=0-step=40.ckpt": [[6, 15]],
      "epoch=0-step=60.ckpt": [[10, 20]],
      "epoch=0-step=80.ckpt": [[15, forEver]],
      "epoch=0-step=100.ckpt": [[20, forEver]],
      "last.ckpt": [
        [4, 6],
        [8, 11],
        [13, 16],
        [18, 21],
        [23, forEver],
      ],
    },
    atEnd: [
      ["epoch=0-step=80.ckpt", 80],
      ["epoch=0-step=100.ckpt", 100],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "accelerate_loop",
    because: "random_states_0.pkl is the last file; deletion of the oldest comes before the next save",
    good: {
      "checkpoints/checkpoint_0": [[12, 25]],
      "checkpoints/checkpoint_1": [[24, 41]],
      "checkpoints/checkpoint_2": [[40, 57]],
      "checkpoints/checkpoint_3": [[56, forEver]],
      "checkpoints/checkpoint_4": [[72, forEver]],
    },
    atEnd: [
      ["checkpoints/checkpoint_3", 3],
      ["checkpoints/checkpoint_4", 4],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "dcp_async",
    because: ".metadata is renamed into place last",
    good: {
      "step-25": [[22, forEver]],
      "step-50": [[42, forEver]],
      "step-75": [[64, forEver]],
      "step-100": [[86, forEver]],
    },
    atEnd: [
      ["step-25", 25],
      ["step-50", 50],
      ["step-75", 75],
      ["step-100", 100],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "torchrun_two",
    because: ".metadata is renamed into place last; rank0.pt belongs to no step",
    good: { "step-20": [[16, forEver]], "step-40": [[40, forEver]], "step-60": [[68, forEver]] },
    atEnd: [
      ["step-20", 20],
      ["step-40", 40],
      ["step-60", 60],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "orbax_manager",
    because: "the folder is renamed when all is in it; rotation begins with _CHECKPOINT_METADATA",
    good: {
      "1": [[91, 273]],
      "20": [[182, 383]],
      "40": [[273, 493]],
      "60": [[383, 603]],
      "80": [[493, forEver]],
      "100": [[603, forEver]],
    },
    atEnd: [
      ["80", 80],
      ["100", 100],
    ],
    pauseMs: tenMinutes,
  },
  {
    recording: "torch_save",
    because: "overwritten in place; then through a temporary name; then safetensors, renamed while still open",
    good: {
      "ckpt.pt": [
        [2, 3],
        [5, 6],
        [8, 9],
        [11, forEver],
      ],
      "safe.pt": [[16, forEver]],
      "model.safetensors": [[33, forEver]],
    },
    atEnd: [["", undefined]],
    pauseMs: tenMinutes,
  },
  {
    recording: "keras_backup",
    because: "weights and metadata are one state, overwritten one after the other without a marker",
    good: {
      "backup/latest.weights.h5": [
        [6, 9],
        [14, 22],
        [27, 30],
        [35, 43],
        [48, 51],
        [56, 61],
      ],
      "backup/training_metadata.json": [
        [6, 9],
        [14, 22],
        [27, 30],
        [35, 43],
        [48, 51],
        [56, 61],
      ],
      "ep-01.keras": [[19, forEver]],
      "ep-02.keras": [[40, forEver]],
      "ep-03.keras": [[60, forEver]],
    },
    atEnd: [["", undefined]],
    pauseMs: 2_500,
  },
  {
    recording: "lightgbm_snapshots",
    because: "closed, then opened again for the last 25 bytes",
    good: {
      "model.txt": [
        [4, 5],
        [9, 10],
        [14, forEver],
      ],
    },
    atEnd: [["", undefined]],
    pauseMs: 2_500,
  },
];
