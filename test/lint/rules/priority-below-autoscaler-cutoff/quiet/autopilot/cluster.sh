gcloud container clusters create-auto c
