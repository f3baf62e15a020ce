resource "google_container_node_pool" "p" { # <- error
  name = "p"
  node_config {
    spot = false
    kubelet_config {
      shutdown_grace_period_seconds = 120
      shutdown_grace_period_critical_pods_seconds = 15
    }
    taint {
      key = "cloud.google.com/gke-spot"
      value = "true"
      effect = "NO_SCHEDULE"
    }
  }
}
