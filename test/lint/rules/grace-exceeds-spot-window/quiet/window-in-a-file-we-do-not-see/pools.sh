gcloud container node-pools create spot-long --cluster C --spot --machine-type g2-standard-8 --system-config-from-file kubelet.yaml --node-taints=cloud.google.com/gke-spot=true:NoSchedule
