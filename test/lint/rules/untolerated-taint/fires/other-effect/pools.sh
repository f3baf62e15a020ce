gcloud container node-pools create spot-l4 --spot --machine-type g2-standard-8 --node-taints=cloud.google.com/gke-spot=true:NoSchedule
