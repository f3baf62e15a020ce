resource "google_container_node_pool" "spot" {
  name = "spot-tf"
  node_config {
    spot = true
    dynamic "taint" {
      for_each = module.x.taints
      content {
        key = taint.value.key
        effect = taint.value.effect
      }
    }
  }
}
