module "gke" {
  source = "terraform-google-modules/kubernetes-engine/google"
  node_pools = [ # <- warning
    { name = "base", machine_type = "e2-standard-4" },
    { name = "cheap", machine_type = "e2-standard-8", spot = true },
  ]
}
