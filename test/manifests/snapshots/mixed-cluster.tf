resource "google_container_node_pool" "on_demand_g2_standard_8" {
  name               = "on-demand-g2-standard-8"
  cluster            = "training"
  location           = "europe-west4"
  project            = "acme"
  initial_node_count = 0

  # totals, not per zone
  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 2
    location_policy      = "ANY"
  }

  node_config {
    machine_type = "g2-standard-8"

    guest_accelerator {
      type  = "nvidia-l4"
      count = 1

      gpu_driver_installation_config {
        gpu_driver_version = "LATEST"
      }
    }

    # Workload Identity
    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }
}

resource "google_container_node_pool" "flex_start_a2_highgpu_8g" {
  name               = "flex-start-a2-highgpu-8g"
  cluster            = "training"
  location           = "europe-west4"
  project            = "acme"
  initial_node_count = 0

  # totals, not per zone
  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 1
    location_policy      = "ANY"
  }

  # flex-start nodes are not repaired
  management {
    auto_repair  = false
    auto_upgrade = true
  }

  queued_provisioning {
    enabled = false
  }

  node_config {
    machine_type     = "a2-highgpu-8g"
    flex_start       = true
    max_run_duration = "86400s"

    guest_accelerator {
      type  = "nvidia-tesla-a100"
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

resource "google_container_node_pool" "spot_g2_standard_8" {
  name               = "spot-g2-standard-8"
  cluster            = "training"
  location           = "europe-west4"
  project            = "acme"
  initial_node_count = 0

  # totals, not per zone
  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 1
    location_policy      = "ANY"
  }

  node_config {
    machine_type = "g2-standard-8"
    spot         = true

    guest_accelerator {
      type  = "nvidia-l4"
      count = 1

      gpu_driver_installation_config {
        gpu_driver_version = "LATEST"
      }
    }

    taint {
      key    = "cloud.google.com/gke-spot"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    # Workload Identity
    workload_metadata_config {
      mode = "GKE_METADATA"
    }
  }
}
