resource "google_container_node_pool" "spot_sweep" {
  name               = "spot-sweep"
  cluster            = "training"
  location           = "europe-west4"
  project            = "acme"
  initial_node_count = 0

  # totals, not per zone
  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 4
    location_policy      = "ANY"
  }

  node_config {
    machine_type = "g2-standard-24"
    spot         = true
    labels       = { "provisioning-tier" = "preemptible" }

    guest_accelerator {
      type  = "nvidia-l4"
      count = 2

      gpu_driver_installation_config {
        gpu_driver_version = "LATEST"
      }
    }

    taint {
      key    = "cloud.google.com/gke-spot"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "provisioning-tier"
      value  = "preemptible"
      effect = "NO_SCHEDULE"
    }

    # Workload Identity
    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }
}
