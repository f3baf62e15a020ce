gcloud container node-pools create spot-x --spot --machine-type g2-standard-8 --node-taints=dedicated=ml:NoSchedule
