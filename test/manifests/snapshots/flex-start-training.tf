resource "google_container_node_pool" "queued_a3_highgpu_8g" {
  name               = "queued-a3-highgpu-8g"
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

  # flex-start nodes are not repaired
  management {
    auto_repair  = false
    auto_upgrade = true
  }

  queued_provisioning {
    enabled = true
  }

  node_config {
    machine_type     = "a3-highgpu-8g"
    flex_start       = true
    max_run_duration = "259200s"

    guest_accelerator {
      type  = "nvidia-h100-80gb"
      count = 8

      gpu_driver_installation_config {
        gpu_driver_version = "LATEST"
      }
    }

    reservation_affinity {
      consume_reservation_type = "NO_RESERVATION"
    }

    # Workload Identity
    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }
}
