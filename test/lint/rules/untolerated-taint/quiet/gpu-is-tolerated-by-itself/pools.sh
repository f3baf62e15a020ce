gcloud container node-pools create gpu --spot --machine-type g2-standard-8 --node-taints=nvidia.com/gpu=present:NoSchedule
