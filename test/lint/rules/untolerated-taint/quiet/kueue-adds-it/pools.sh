gcloud container node-pools create queued --flex-start --enable-queued-provisioning --machine-type g2-standard-8 --node-taints=cloud.google.com/gke-queued=true:NoSchedule --num-nodes 0
