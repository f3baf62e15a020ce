gcloud container node-pools create a --spot --node-taints=x=y:NoSchedule
