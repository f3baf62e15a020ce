variable "taints" {
  default = [
    { key = "cloud.google.com/gke-spot", value = "true", effect = "NO_SCHEDULE" },
    { key = "team", value = "ml", effect = "PREFER_NO_SCHEDULE" },
  ]
}

resource "google_container_node_pool" "spot" {
  name    = "spot-tf"
  cluster = google_container_cluster.c.id # not here

  node_config {
    spot         = true
    machine_type = "g2-standard-8"

    dynamic "taint" {
      for_each = var.taints
      content {
        key    = taint.value.key
        value  = taint.value.value
        effect = taint.value.effect
      }
    }
  }
}
