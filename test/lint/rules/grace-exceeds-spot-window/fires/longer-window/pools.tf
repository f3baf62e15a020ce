resource "google_container_node_pool" "spot" {
  name = "spot-long"
  node_config {
    spot         = true
    machine_type = "g2-standard-8"
    kubelet_config {
      shutdown_grace_period_seconds               = 120
      shutdown_grace_period_critical_pods_seconds = 60
    }
    taint {
      key    = "cloud.google.com/gke-spot"
      value  = "true"
      effect = "NO_SCHEDULE"
    }
  }
}
