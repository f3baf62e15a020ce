module "gke" {
  source = "terraform-google-modules/kubernetes-engine/google"
  node_pools = [
    { name = "base", machine_type = "e2-standard-4" },
    { name = "cheap", machine_type = "e2-standard-8", spot = true },
  ]
  node_pools_taints = {
    all   = []
    cheap = [{ key = "cloud.google.com/gke-spot", value = "true", effect = "NO_SCHEDULE" }]
  }
}
