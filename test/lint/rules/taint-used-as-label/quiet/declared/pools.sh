gcloud container node-pools create q --flex-start --enable-queued-provisioning --num-nodes 0 --node-labels=cloud.google.com/gke-queued=true
