/** A price of one machine, accelerators included, in one region. */
export interface PricePoint {
  readonly machine: string;
  /** As in `cloud.google.com/gke-accelerator`. */
  readonly accelerator: string;
  readonly count: number;
  readonly region: string;
  /** Per hour. */
  readonly onDemand: number;
  readonly spot: number | undefined;
  readonly flexStart: number | undefined;
  readonly currency: string;
  /** Day of the on-demand and Spot prices, and of the flex-start one where it is another. */
  readonly asOf: string;
  readonly flexAsOf: string | undefined;
  readonly source: string;
}

const asOf = "2026-08-21";
const source =
  "public price catalogue of skypilot-org/skypilot-catalog at f2624ac056ee (host + accelerators, cheapest zone); flex-start from published SKUs";

function row(
  machine: string,
  accelerator: string,
  count: number,
  region: string,
  onDemand: number,
  spot: number,
  flexStart?: number,
  flexAsOf?: string,
): PricePoint {
  return { machine, accelerator, count, region, onDemand, spot, flexStart, currency: "USD", asOf, flexAsOf, source };
}

/**
 * Dated points, so that a first plan needs no account. Flex-start stands only where a published SKU was found; L4 and T4 get no
 * flex-start discount. a3-highgpu-8g's flex-start price is without its local SSD.
 */
export const priceTable: readonly PricePoint[] = [
  row("a2-highgpu-1g", "nvidia-tesla-a100", 1, "us-central1", 3.67339, 2.12081, 2.02038, "2026-08-02"),
  row("a2-highgpu-1g", "nvidia-tesla-a100", 1, "europe-west4", 3.74797, 2.24787),
  row("a2-highgpu-1g", "nvidia-tesla-a100", 1, "asia-southeast1", 4.01376, 2.40826),
  row("a2-highgpu-8g", "nvidia-tesla-a100", 8, "us-central1", 29.38708, 16.96648, 16.16, "2026-08-09"),
  row("a2-highgpu-8g", "nvidia-tesla-a100", 8, "europe-west4", 29.98377, 17.98296),
  row("a2-highgpu-8g", "nvidia-tesla-a100", 8, "asia-southeast1", 32.11006, 19.26608),
  row("a2-ultragpu-1g", "nvidia-a100-80gb", 1, "us-central1", 5.0277, 2.90322),
  row("a2-ultragpu-1g", "nvidia-a100-80gb", 1, "us-east4", 5.66253, 2.42003),
  row("a2-ultragpu-1g", "nvidia-a100-80gb", 1, "europe-west4", 5.53571, 2.8678),
  row("a2-ultragpu-1g", "nvidia-a100-80gb", 1, "asia-southeast1", 6.20248, 3.34222),
  row("a2-ultragpu-8g", "nvidia-a100-80gb", 8, "us-central1", 40.22162, 23.22576),
  row("a2-ultragpu-8g", "nvidia-a100-80gb", 8, "us-east4", 45.30022, 19.36024),
  row("a2-ultragpu-8g", "nvidia-a100-80gb", 8, "europe-west4", 44.2857, 22.9424),
  row("a2-ultragpu-8g", "nvidia-a100-80gb", 8, "asia-southeast1", 49.61984, 26.73776),
  row("a3-highgpu-8g", "nvidia-h100-80gb", 8, "us-central1", 87.83246, 52.6991, 37.6625, "2026-08-09"),
  row("a3-highgpu-8g", "nvidia-h100-80gb", 8, "us-east4", 87.83247, 43.52144),
  row("a3-highgpu-8g", "nvidia-h100-80gb", 8, "europe-west4", 111.81719, 53.01336),
  row("a3-highgpu-8g", "nvidia-h100-80gb", 8, "asia-southeast1", 113.55501, 67.72861),
  row("a3-megagpu-8g", "nvidia-h100-mega-80gb", 8, "us-central1", 92.21427, 55.3207),
  row("a3-megagpu-8g", "nvidia-h100-mega-80gb", 8, "us-east4", 92.2143, 27.69984),
  row("a3-megagpu-8g", "nvidia-h100-mega-80gb", 8, "europe-west4", 117.51354, 55.59016),
  row("a3-megagpu-8g", "nvidia-h100-mega-80gb", 8, "asia-southeast1", 119.25136, 70.99341),
  row("g2-standard-4", "nvidia-l4", 1, "us-central1", 0.70683, 0.42396, 0.70683, "2026-08-21"),
  row("g2-standard-4", "nvidia-l4", 1, "us-east4", 0.70452, 0.34166, 0.70452, "2026-08-21"),
  row("g2-standard-4", "nvidia-l4", 1, "europe-west4", 0.74292, 0.44578, 0.74292, "2026-08-21"),
  row("g2-standard-4", "nvidia-l4", 1, "asia-southeast1", 0.87202, 0.52327, 0.87202, "2026-08-21"),
  row("g2-standard-8", "nvidia-l4", 1, "us-central1", 0.85362, 0.51201, 0.85362, "2026-08-21"),
  row("g2-standard-8", "nvidia-l4", 1, "us-east4", 0.85083, 0.41262, 0.85083, "2026-08-21"),
  row("g2-standard-8", "nvidia-l4", 1, "europe-west4", 0.8972, 0.53835, 0.8972, "2026-08-21"),
  row("g2-standard-8", "nvidia-l4", 1, "asia-southeast1", 1.05311, 0.63194, 1.05311, "2026-08-21"),
  row("g2-standard-24", "nvidia-l4", 2, "us-central1", 2.00083, 1.20014, 2.00083, "2026-08-21"),
  row("g2-standard-24", "nvidia-l4", 2, "us-east4", 1.99428, 0.96716, 1.99428, "2026-08-21"),
  row("g2-standard-24", "nvidia-l4", 2, "europe-west4", 2.10297, 1.26186, 2.10297, "2026-08-21"),
  row("g2-standard-24", "nvidia-l4", 2, "asia-southeast1", 2.46842, 1.48123, 2.46842, "2026-08-21"),
  row("g2-standard-48", "nvidia-l4", 4, "us-central1", 4.00166, 2.40027, 4.00166, "2026-08-21"),
  row("g2-standard-48", "nvidia-l4", 4, "us-east4", 3.98857, 1.93432, 3.98857, "2026-08-21"),
  row("g2-standard-48", "nvidia-l4", 4, "europe-west4", 4.20595, 2.52371, 4.20595, "2026-08-21"),
  row("g2-standard-48", "nvidia-l4", 4, "asia-southeast1", 4.93686, 2.96246, 4.93686, "2026-08-21"),
  row("g2-standard-96", "nvidia-l4", 8, "us-central1", 8.00333, 4.80054, 8.00333, "2026-08-21"),
  row("g2-standard-96", "nvidia-l4", 8, "us-east4", 7.97712, 3.86864, 7.97712, "2026-08-21"),
  row("g2-standard-96", "nvidia-l4", 8, "europe-west4", 8.4119, 5.04742, 8.4119, "2026-08-21"),
  row("g2-standard-96", "nvidia-l4", 8, "asia-southeast1", 9.87371, 5.92493, 9.87371, "2026-08-21"),
  row("n1-standard-8", "nvidia-tesla-t4", 1, "us-central1", 0.73, 0.36886, 0.73, "2026-08-21"),
  row("n1-standard-8", "nvidia-tesla-t4", 1, "us-east4", 0.79797, 0.33231, 0.79797, "2026-08-21"),
  row("n1-standard-8", "nvidia-tesla-t4", 1, "europe-west4", 0.76834, 0.44998, 0.76834, "2026-08-21"),
  row("n1-standard-8", "nvidia-tesla-t4", 1, "asia-southeast1", 0.83877, 0.21108, 0.83877, "2026-08-21"),
];
