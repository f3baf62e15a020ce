resource "google_container_node_pool" "flex" { # <- error
  name = "flex"
  node_count = 1
  management {
    auto_repair = true
  }
  node_config {
    flex_start = true
    reservation_affinity {
      consume_reservation_type = "ANY_RESERVATION"
    }
  }
}
